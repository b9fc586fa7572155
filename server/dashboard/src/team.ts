// Accounts: invitations, the second factor, and the ways to sign in.

import type { Role } from './types';

export interface Invitation {
  id: string;
  role: Role;
  name: string | null;
  status: 'open' | 'used' | 'revoked' | 'expired';
  by: string;
  created_at: string | null;
  expires_at: string | null;
  closed_at: string | null;
}

export interface NewInvitation extends Invitation {
  link: string; // the rest of the address, after the console's
  url?: string; // the whole address, if admin.public_url is configured
}

export interface ShownInvitation {
  role: Role;
  name: string | null;
  tenant: string;
  by: string;
  expires_at: string | null;
}

export interface SignInMethods {
  password: boolean;
  require_totp: boolean;
  oidc: { label: string; start: string; available: boolean } | null;
}

export interface TotpSecret {
  secret: string;
  otpauth_url: string;
}

// meanings says what each role may do.
export const meanings: { [role in Role]: string } = {
  viewer: 'sees all data except secrets',
  operator: 'also reviews, pauses, resends, tests, uploads',
  admin: 'also configuration, users, keys, money',
};

export const passwordHelp = 'at least 12 characters';
