import '#test/support/one-at-a-time.ts'
import '#test/core/records/batch-takeover.test.ts'
import '#test/core/records/csv-takeover.test.ts'
import '#test/core/records/matching-takeover.test.ts'
