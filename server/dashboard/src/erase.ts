// Deletion of consumer data: the identifiers and the result.

export type By = 'email' | 'phone' | 'lead';

export const names: { [by in By]: string } = { email: 'Email', phone: 'Phone', lead: 'Lead' };

export const hints: { [by in By]: string } = {
  email: 'ann@example.com',
  phone: '(415) 555-0100',
  lead: 'lead_…',
};

export const helps: { [by in By]: string } = {
  email: 'all leads with this address',
  phone: 'all leads with this number; numbers outside the US with + and country code',
  lead: 'this one lead',
};

export const noLead = 'an id that begins with lead_; to find by other data, choose email or phone';

const lefts: { [reason: string]: string } = {
  under_way: 'It is being delivered. Delete again in a minute.',
  unsealed: 'It was logged before encryption. It is deleted when its retention in the log ends.',
  unreadable: 'The file of its key is missing or damaged. Restore the file, and delete again.',
};

export const reasonsLeft = Object.keys(lefts);

// leftOf returns the reason why a lead was not erased, and the remedy.
export const leftOf = (reason: string): string => lefts[reason] ?? reason;

export interface Erased {
  erased: number;
  left: number;
  left_leads: { lead_id: string; reason: string }[];
}
