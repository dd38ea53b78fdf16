import { sectionOf } from './sections.ts'

// What `import test from 'ava'` means to a file that shares a thread, one instance a file: `?of=` names it.
export default sectionOf(new URL(import.meta.url).searchParams.get('of') ?? '').test
