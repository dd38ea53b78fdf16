// Asks the process of this container. In the image, the API and workers listen on the same port.
const path = process.argv[2] ?? '/healthz'
const answer = await fetch(`http://127.0.0.1:${process.env.PORT || 3000}${path}`).catch(({ cause, message }) => {
  console.error(cause?.message ?? message)
})
if (answer) console.log(answer.status, await answer.text())
process.exit(answer?.ok ? 0 : 1)
