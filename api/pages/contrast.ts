/** The colours that a page takes from its workspace, in one scheme. */
export interface Accent {
  /** Of links, outlines and buttons. */
  readonly accent: string
  /** Of the words on a button. */
  readonly onAccent: string
}

/** The backgrounds that accents stand on, the one nearest to the accent first; api/pages/page.css names the same. */
export const backgrounds = { light: '#f5f6f8', dark: '#1d2027' } as const

const words = { light: '#ffffff', dark: '#14161b' } as const

/** The least contrast of text (WCAG 2.2, 1.4.3). */
export const leastContrast = 4.5

/**
 * A workspace's colour as it can be read in both schemes: itself where its contrast is 4.5:1 or more, else as much darker or lighter as that
 * takes. Takes `#rrggbb`.
 */
export const accentsOf = (color: string): { readonly light: Accent; readonly dark: Accent } => ({
  light: { accent: readable(color, backgrounds.light, '#000000'), onAccent: words.light },
  dark: { accent: readable(color, backgrounds.dark, '#ffffff'), onAccent: words.dark },
})

function readable(color: string, background: string, towards: string): string {
  for (let step = 0; ; step++) {
    const mixed = mix(color, towards, step / 50)
    if (contrast(mixed, background) >= leastContrast) return mixed
  }
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio). */
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
