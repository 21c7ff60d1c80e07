-- Repeatedly refreshes tokens: each response's refresh token is used in a later request. Each thread starts with its own tokens.
-- Arguments: PATH TOKENS_FILE TOKENS_PER_THREAD CLIENT
local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

function init(args)
    path, client = args[1], args[4]
    head, tail, queue = 1, 0, {}
    local index = 0
    for line in io.lines(args[2]) do
        if math.floor(index / tonumber(args[3])) == number then
            tail = tail + 1
            queue[tail] = line
        end
        index = index + 1
    end
    headers = { ["Content-Type"] = "application/x-www-form-urlencoded" }
end

function request()
    local token = queue[head] or "none-left"
    queue[head] = nil
    head = head + 1
    return wrk.format("POST", path, headers, "grant_type=refresh_token&client_id=" .. client .. "&refresh_token=" .. token)
end

function response(status, _, body)
    local token = status == 200 and body:match('"refresh_token":"([^"]+)"')
    if token then
        tail = tail + 1
        queue[tail] = token
    end
end
