-- Exchanges each code once for tokens. Each thread has its own file. After the last code of the file, the server rejects the requests, so
-- rejected requests in a result mean that there were too few codes.
-- Arguments: PATH CODES_FILE CLIENT REDIRECT_URI CODE_VERIFIER
local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

function init(args)
    path = args[1]
    codes = io.lines(args[2] .. "." .. number)
    headers = { ["Content-Type"] = "application/x-www-form-urlencoded" }
    form = "grant_type=authorization_code&client_id=" .. args[3] .. "&redirect_uri=" .. args[4] .. "&code_verifier=" .. args[5] .. "&code="
end

function request()
    local code = codes and codes()
    if not code then codes = nil end
    return wrk.format("POST", path, headers, form .. (code or "none-left"))
end
