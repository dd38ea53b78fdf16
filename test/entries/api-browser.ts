import '#test/support/one-at-a-time.ts'
import '#test/api/pages/browser/booking.test.ts'
import '#test/api/pages/browser/hostile.test.ts'
import '#test/api/pages/browser/pages.test.ts'
