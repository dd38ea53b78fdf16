import '#test/support/one-at-a-time.ts'
import '#test/core/people/pages.test.ts'
import '#test/core/people/reset.test.ts'
import '#test/core/people/sign-in.test.ts'
