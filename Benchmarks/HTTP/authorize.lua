-- Repeatedly signs in with a session and writes the codes to one file per thread. Each thread has its own session.
-- Arguments: PATH_WITH_QUERY COOKIES_FILE CODES_FILE
local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

function init(args)
    local index = 0
    for line in io.lines(args[2]) do
        if index == number then cookie = line end
        index = index + 1
    end
    path, headers = args[1], { ["Cookie"] = cookie }
    codes = io.open(args[3] .. "." .. number, "w")
    codes:setvbuf("no")
end

function request()
    return wrk.format("GET", path, headers)
end

function response(status, headers)
    local code = status == 302 and (headers["location"] or headers["Location"] or ""):match("[?&]code=([^&]+)")
    if code then codes:write(code, "\n") end
end
