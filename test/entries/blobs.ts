import '#test/support/one-at-a-time.ts'
import '#test/platform/blobs/blobs.test.ts'
import '#test/platform/blobs/private.test.ts'
