// The package's index loads a hundred other validators, which takes every process 30 to 60 ms at its start.
import validator from 'validator/lib/isEmail.js'

/**
 * Whether a text is one email address, without a display name. A quoted local part may not contain control characters and angle brackets:
 * nodemailer would send a blank in their place, which is another mailbox.
 */
export const isEmail = (text: string): boolean => validator.default(text) && !/[\p{Cc}<>]/u.test(text)
