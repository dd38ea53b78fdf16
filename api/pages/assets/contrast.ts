/** A workspace's colours on a page, in one colour scheme. */
export interface Accent {
  /** Colour of links, outlines and buttons. */
  readonly accent: string
  /** Text colour on buttons. */
  readonly onAccent: string
}

/** For each colour scheme, the background in page.css on which an accent has the least contrast. Must match page.css. */
export const backgrounds = { light: '#f5f6f8', dark: '#1d2027' } as const

const buttonTextColors = { light: '#ffffff', dark: '#14161b' } as const

/** Minimum contrast ratio of text (WCAG 2.2, 1.4.3). */
export const minContrast = 4.5

/**
 * Makes a workspace's colour (`#rrggbb`) readable in both schemes: unchanged where its contrast is at least 4.5:1, else darkened or
 * lightened until it is.
 */
export const readableAccents = (color: string): { readonly light: Accent; readonly dark: Accent } => ({
  light: { accent: ensureContrast(color, backgrounds.light, '#000000'), onAccent: buttonTextColors.light },
  dark: { accent: ensureContrast(color, backgrounds.dark, '#ffffff'), onAccent: buttonTextColors.dark },
})

function ensureContrast(color: string, background: string, towards: string): string {
  for (let step = 0; ; step++) {
    const mixed = mix(color, towards, step / 50)
    if (contrast(mixed, background) >= minContrast) return mixed
  }
}

/** The contrast ratio of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(color: string, other: string, share: number): string {
  const others = channels(other)
  const mixed = channels(color).map((channel, index) => Math.round(channel + ((others[index] ?? 0) - channel) * share))
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

const channels = (color: string): number[] => [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16))
