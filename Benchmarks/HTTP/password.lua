-- Repeatedly signs in with a password. Arguments: PATH
function init(args)
    wrk.method = "POST"
    wrk.path = args[1]
    wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
    wrk.body = "grant_type=password&client_id=bench-app&username=bench@example.com&password=Correct-Staple-77&scope=openid offline_access"
end
