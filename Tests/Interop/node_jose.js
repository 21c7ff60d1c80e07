// Verifies an access token by a key set as a Node resource server would: issuer, audience, client and signature.
//
//   node node_jose.js ISSUER AUDIENCE CLIENT < {"token": …, "keys": {"keys": […]}}
//
// Prints the claims as JSON, or exits non-zero with the reason.
const jose = require('/usr/share/nodejs/jose/dist/node/cjs/index.js')

const [issuer, audience, client] = process.argv.slice(2)
let input = ''
process.stdin.on('data', (chunk) => (input += chunk))
process.stdin.on('end', async () => {
  try {
    const { token, keys } = JSON.parse(input)
    const { payload } = await jose.jwtVerify(token, jose.createLocalJWKSet(keys), { issuer, audience })
    if (payload.cid !== client) throw new Error(`cid is ${payload.cid}`)
    console.log(JSON.stringify(payload))
  } catch (error) {
    console.error(String(error))
    process.exit(1)
  }
})
