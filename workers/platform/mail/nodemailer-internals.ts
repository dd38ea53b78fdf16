// Everything that is used of nodemailer besides its main entry; a test names the release that it was checked against. Delivery needs the
// connection itself: a transport does not tell whether the whole mail was sent before the connection broke.

export { encodeWord } from 'nodemailer/lib/mime-funcs'
export { parseConnectionUrl } from 'nodemailer/lib/shared'
export { default as SMTPConnection } from 'nodemailer/lib/smtp-connection'
