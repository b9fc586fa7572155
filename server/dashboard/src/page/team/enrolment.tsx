import { SecondFactor } from './second-factor';

// Enrolment is the only page of an account that must turn on a second factor first.
export function Enrolment({ name, done, leave }: { name: string; done: () => void; leave: () => Promise<void> }) {
  return (
    <main class="alone wide" id="main">
      <h1>pingpost</h1>
      <p class="note warn">This exchange requires a second factor. Turn it on to continue.</p>
      <SecondFactor name={name} on={false} done={done} />
      <div class="row end">
        <button type="button" class="button quiet" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </main>
  );
}
