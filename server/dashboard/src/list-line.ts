// Checks and normalizes the lines of a suppression list's file, by the rules of the exchange.

const phoneText = /^[ ]*\+?[\d ().-]+$/;
const maxPhoneText = 64;

// isPhone reports whether a value has the form of a phone number that can exist: ten digits of a North
// American number, or 11 to 15 digits that begin with a country code. With a + the country code's
// number may be shorter, as in small countries.
function isPhone(value: string): boolean {
  if (value.length > maxPhoneText || !phoneText.test(value)) return false;
  const international = value.startsWith('+');
  const digits = value.replace(/\D/g, '');
  if (digits.length === 10 && !international) return isNorthAmerican(digits);
  if (digits.startsWith('1')) return digits.length === 11 && isNorthAmerican(digits.slice(1));
  return !digits.startsWith('0') && digits.length >= (international ? 8 : 11) && digits.length <= 15;
}

// isNorthAmerican reports whether neither the area code nor the exchange of ten digits begins with 0 or 1.
const isNorthAmerican = (tenDigits: string): boolean => /^[2-9]..[2-9]/.test(tenDigits);

const atom = "[\\w!#$%&'*+/=?^`{|}~-]+";
const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const emailText = new RegExp(`^${atom}(\\.${atom})*@${label}(\\.${label})+$`, 'i');
const maxEmail = 254;
const maxEmailLocal = 64;

const isEmail = (value: string): boolean =>
  value.length <= maxEmail && value.indexOf('@') <= maxEmailLocal && emailText.test(value);

// isValue reports whether a value is valid for the field of a list.
export const isValue = (field: string, value: string): boolean => (field === 'email' ? isEmail(value) : isPhone(value));

// reasonOf returns the reason why a line is not a value of the field, in the words of the exchange. It
// is empty for a valid line.
export function reasonOf(field: string, line: string): string {
  const value = line.trim();
  if (value === '') return 'the line is empty';
  if (isValue(field, value)) return '';
  return field === 'email'
    ? 'the line is not an email address; correct or remove the line'
    : 'the line is not a phone number that can exist; correct or remove the line';
}

// normal returns a valid value in the form in which lists of hashes have it: a phone number as E.164, an
// email in lower case. Ten digits without + are a US number.
export function normal(field: string, value: string): string {
  if (field === 'email') return value.trim().toLowerCase();
  const digits = value.replace(/\D/g, '');
  return `+${digits.length === 10 && !value.trim().startsWith('+') ? '1' : ''}${digits}`;
}
