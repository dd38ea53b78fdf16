/** Names by their own spelling: Intl takes any letter case and offsets such as `+02:00` too, which are no names of the IANA list. */
const spelling = /^[A-Z][A-Za-z0-9]*(?:[_+-][A-Za-z0-9]+)*(?:\/[A-Z][A-Za-z0-9]*(?:[_+-][A-Za-z0-9]+)*)*$/
const listed = new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]))

/** Whether text is the name of a time zone of the IANA list, such as `Europe/Berlin`; older names such as `Asia/Calcutta` count. */
export function isTimeZone(text: string): boolean {
  const own = listed.get(text.toLowerCase())
  if (own !== undefined) return own === text
  if (!spelling.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}
