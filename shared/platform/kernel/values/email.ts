// The package's index loads a hundred other validators, which takes every process 30 to 60 ms at its start.
import validator from 'validator/lib/isEmail.js'

/** Whether a text is one email address, without a display name. */
export const isEmail = (text: string): boolean => validator.default(text)
