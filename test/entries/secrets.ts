import '#test/support/one-at-a-time.ts'
import '#test/platform/secrets/rotation.test.ts'
import '#test/platform/secrets/secret-key.test.ts'
