// Who is signed in, and what that one may do.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Role, Session } from './types';

export const roles: Role[] = ['viewer', 'operator', 'admin'];

export const SessionContext = createContext<Session>({ name: '', role: 'viewer' });

export const useSession = (): Session => useContext(SessionContext);

export function may(role: Role, needs: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needs);
}

// denied is why this one may not do what needs a role; empty: he may.
export function useDenied(needs: Role): string {
  const { role } = useSession();
  return may(role, needs) ? '' : `Needs the role ${needs}; yours is ${role}.`;
}
