/**
 * The current codes of ISO 4217 (list one, up to amendment 180 of January 2026: with XCG and XAD, without ANG, BGN, CUC, HRK, SLL and ZWL) by
 * the digits of their minor unit. The second line of 0 has metals, units of account and codes without a currency, which have no minor unit in
 * the standard. Intl is not the source, because its digits differ from the standard's for 29 codes.
 */
const codesByDigits: Readonly<Record<number, string>> = {
  0: `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF
      XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX`,
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP
      CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD
      KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
      PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU
      UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

/** Digits of the minor unit by currency code, ordered by digits and then by code. */
export const currencies: ReadonlyMap<string, number> = new Map(
  Object.entries(codesByDigits).flatMap(([digits, codes]) => codes.split(/\s+/).map((code) => [code, Number(digits)] as const)),
)

/** Whether text is a current ISO 4217 code, in capitals. */
export const isCurrencyCode = (text: string): boolean => currencies.has(text)

/** Digits of a currency's minor unit: 2 for EUR, 0 for JPY; 2 for a withdrawn code. */
export const currencyDigits = (code: string): number => currencies.get(code) ?? 2
