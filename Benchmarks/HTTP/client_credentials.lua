-- Repeatedly requests an access token with client credentials. Arguments: PATH
function init(args)
    wrk.method = "POST"
    wrk.path = args[1]
    wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
    wrk.headers["Authorization"] = "Basic YmVuY2gtc2VydmljZTpiZW5jaC1zZXJ2aWNlLXNlY3JldA=="
    wrk.body = "grant_type=client_credentials&scope=messages.read"
end
