/** A limit of bytes in words, exactly: `64 KB`, `1000000 bytes`. */
export const sizeText = (bytes: number): string => {
  if (bytes % 1024 !== 0) return `${bytes} bytes`
  return bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2} MB` : `${bytes / 1024} KB`
}
