import { sectionOf } from './sections.ts'

// Replaces `ava` for a file that shares a thread; one instance per file, which `?of=` names.
export default sectionOf(new URL(import.meta.url).searchParams.get('of') ?? '').test
