// The signed-in user and their permissions.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Role, Session } from './types';

export const roles: Role[] = ['viewer', 'operator', 'admin'];

export const SessionContext = createContext<Session>({ name: '', role: 'viewer' });

export const useSession = (): Session => useContext(SessionContext);

export function may(role: Role, needs: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needs);
}

// denied returns the reason why the user may not do what needs a role, empty if they may.
export function useDenied(needs: Role): string {
  const { role } = useSession();
  return may(role, needs) ? '' : `Needs the role ${needs}; yours is ${role}.`;
}
