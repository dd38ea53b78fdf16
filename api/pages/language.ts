import { formatAmount } from '#shared/features/payments/links/schemas.ts'

/** Locale for visitors without a supported language. */
const defaultLocale = 'en'

/** Chooses a visitor's preferred supported locale for numbers and dates, such as `de-AT` (RFC 9110, Accept-Language). */
export function chooseLocale(acceptLanguage: string): string {
  const languages = acceptLanguage
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [, tag = '', weight = '1'] = /^\s*([A-Za-z\d-]+)\s*(?:;\s*q=([\d.]+))?\s*$/.exec(part) ?? []
      return { tag, weight: Number(weight) }
    })
    .filter(({ tag, weight }) => weight > 0 && isSupported(tag))
  return languages.sort((a, b) => b.weight - a.weight)[0]?.tag ?? defaultLocale
}

function isSupported(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** Formats decimal text without an exponent in a locale, such as `1.234,50 €`, with every digit. */
export function formatMoney(amount: string, currency: string, locale: string): string {
  const text = formatAmount(amount, currency)
  const digits = (text.split('.')[1] ?? '').length
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return format.format(text as `${number}`)
}

/** Formats an instant in a locale, to the minute, with its time zone. */
export const formatInstant = (instant: string, timeZone: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(new Date(instant))
