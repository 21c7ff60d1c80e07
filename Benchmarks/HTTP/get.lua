-- Gets one address, over and over. Arguments: PATH
function init(args)
    wrk.path = args[1]
end
