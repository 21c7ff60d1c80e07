-- Repeatedly gets one address. Arguments: PATH
function init(args)
    wrk.path = args[1]
end
