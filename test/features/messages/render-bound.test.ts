import test from 'ava'
import { renderHtml, renderText } from '#shared/features/messages/templates/render.ts'

test('render bound: variables of more than 1 MB together are refused, in text and in HTML', (t) => {
  const long = () => 'x'.repeat(100_000)
  t.is(renderText('{{a}}'.repeat(10), long).length, 1_000_000)
  for (const render of [renderText, renderHtml])
    t.throws(() => render('{{a}} '.repeat(20_000), long), {
      message: /^the variables of a message may stand for at most 1048576 characters/,
    })
})
