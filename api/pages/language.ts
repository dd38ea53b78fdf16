import { moneyText } from '#shared/payments/link.ts'

/** What a page uses where a visitor names no language that is known. */
const ownLocale = 'en'

/** The locale for numbers and dates that a visitor prefers most (RFC 9110, Accept-Language), such as `de-AT`. */
export function localeOf(acceptLanguage: string): string {
  const asked = acceptLanguage
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [, tag = '', weight = '1'] = /^\s*([A-Za-z\d-]+)\s*(?:;\s*q=([\d.]+))?\s*$/.exec(part) ?? []
      return { tag, weight: Number(weight) }
    })
    .filter(({ tag, weight }) => weight > 0 && isKnown(tag))
  return asked.sort((a, b) => b.weight - a.weight)[0]?.tag ?? ownLocale
}

function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** An amount as its reader writes it: `1.234,50 €`. Takes decimal text without an exponent, and keeps every digit. */
export function moneyWords(amount: string, currency: string, locale: string): string {
  const text = moneyText(amount, currency)
  const digits = (text.split('.')[1] ?? '').length
  const format = new Intl.NumberFormat(locale, {
    ...{ style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits },
  })
  return format.format(text as `${number}`)
}

/** An instant as its reader writes it, to the minute, with its time zone. */
export const instantWords = (instant: string, timeZone: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, {
    ...{ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short', timeZone },
  }).format(new Date(instant))
