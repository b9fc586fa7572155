import { Invitations } from './invitations';
import { Users } from './users';

// TeamTab lists the users and the invitations.
export function TeamTab() {
  return (
    <>
      <Users />
      <Invitations />
    </>
  );
}
