import '#test/support/one-at-a-time.ts'
import '#test/api/pages/contrast.test.ts'
import '#test/api/pages/docs.test.ts'
