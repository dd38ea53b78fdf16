import '#test/support/one-at-a-time.ts'
import '#test/core/roles/containment.test.ts'
import '#test/core/roles/roles.test.ts'
import '#test/core/roles/simulate.test.ts'
