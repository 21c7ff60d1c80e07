-- Introspects the tokens of a file in turn. Arguments: PATH TOKENS_FILE
function init(args)
    path, next, tokens = args[1], 0, {}
    for line in io.lines(args[2]) do tokens[#tokens + 1] = line end
    headers = {
        ["Content-Type"] = "application/x-www-form-urlencoded",
        ["Authorization"] = "Basic YmVuY2gtc2VydmljZTpiZW5jaC1zZXJ2aWNlLXNlY3JldA==",
    }
end

function request()
    next = next % #tokens + 1
    return wrk.format("POST", path, headers, "token=" .. tokens[next])
end

inactive = 0
function response(status, _, body)
    if status ~= 200 or not body:find('"active":true', 1, true) then inactive = inactive + 1 end
end
