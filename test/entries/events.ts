import '#test/support/one-at-a-time.ts'
import '#test/core/events/event-list.test.ts'
import '#test/core/events/event-masks.test.ts'
import '#test/core/events/views.property.test.ts'
