import { call, Failure } from '../../call';

// checkCookie reports whether the browser stored the session cookie. Browsers drop it if the page
// came over plain HTTP from another machine.
export async function checkCookie(): Promise<void> {
  try {
    await call('GET', 'session');
  } catch (problem) {
    if (problem instanceof Failure && problem.status === 401) {
      throw new Failure(
        401,
        'unauthorized',
        'The password is right, but the browser did not keep the session. Open this page over https, or on the exchange’s machine.',
      );
    }
    throw problem;
  }
}
