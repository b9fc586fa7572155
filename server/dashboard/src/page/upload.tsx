import { useRef, useState } from 'preact/hooks';
import { address, Failure, failureOf, headersFor, part, unreachable } from '../call';
import { bytes, count, instant } from '../format';
import { asFailure, useLoad } from '../load';
import { Act, Button } from '../part/button';
import { Labelled, Select } from '../part/field';
import { say } from '../part/notice';
import { Loaded } from '../part/state';
import { Card, Facts } from '../part/words';
import { Wrong } from '../part/wrong';
import { useDenied } from '../session';
import type { SuppressionList, Uploaded } from '../types';

interface Sending {
  sent: number;
  all: number;
  stop: () => void;
}

// Upload replaces the contents of a suppression list. It streams the file, so the file may
// have any size.
export function Upload({ id }: { id: string }) {
  const lists = useLoad<{ lists: SuppressionList[] }>('suppression');
  const chosen = useRef<HTMLInputElement>(null);
  const [file, choose] = useState<File | undefined>();
  const [mode, set] = useState('replace');
  const [sending, go] = useState<Sending | undefined>();
  const [failure, fail] = useState<Failure | undefined>();
  const [done, tell] = useState<Uploaded | undefined>();
  const denied = useDenied('operator');
  const send = async () => {
    if (!file) return;
    fail(undefined);
    tell(undefined);
    try {
      tell(await upload(address(`suppression/${part(id)}`, { mode }), file, go));
      say(`${file.name} is in ${id}.`);
      lists.reload();
      choose(undefined);
      if (chosen.current) chosen.current.value = '';
    } catch (problem) {
      fail(asFailure(problem));
    } finally {
      go(undefined);
    }
  };
  return (
    <Card title="Contents">
      <Loaded of={lists}>
        {({ lists: all }) => {
          const list = all.find((l) => l.id === id);
          return (
            <Facts
              of={[
                ['Entries', count(list?.entries ?? 0)],
                ['Loaded', list?.loaded_at ? `${instant(list.loaded_at)} UTC` : 'never'],
                ['From', list?.source ?? '–'],
              ]}
            />
          );
        }}
      </Loaded>
      <div class="row foot">
        <Labelled label="File" help="a value or a hash a line">
          {(of) => (
            <input
              {...of}
              ref={chosen}
              type="file"
              accept=".txt,.csv,text/plain"
              disabled={denied !== '' || sending !== undefined}
              onChange={(e) => choose(e.currentTarget.files?.[0])}
            />
          )}
        </Labelled>
        <Select
          label="What is there"
          value={mode}
          set={set}
          options={[
            ['replace', 'is replaced'],
            ['add', 'stays, and this is added'],
          ]}
        />
        {sending ? (
          <Button onClick={sending.stop}>Stop</Button>
        ) : (
          <Act needs="operator" tone="main" run={send} disabled={!file}>
            Upload
          </Act>
        )}
      </div>
      {sending && (
        <div class="row">
          <progress class="grow" aria-label="Upload" max={sending.all} value={sending.sent} />
          <span>
            {sending.sent < sending.all
              ? `${bytes(sending.sent)} of ${bytes(sending.all)}`
              : 'sent; the exchange is reading it'}
          </span>
        </div>
      )}
      <Wrong failure={failure} />
      {failure && <p class="faint">Nothing was changed.</p>}
      {done && (
        <p class="note good" role="status">
          {count(done.entries)} entries, {count(done.duplicates)} of them more than once, {count(done.skipped)} lines
          skipped.
        </p>
      )}
    </Card>
  );
}

// upload sends a file by XMLHttpRequest, because fetch reports no upload progress.
function upload(to: string, file: File, progress: (s: Sending) => void): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', to);
    const headers = headersFor('PUT', { 'Content-Type': 'text/plain' });
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const stop = () => request.abort();
    progress({ sent: 0, all: file.size, stop });
    request.upload.onprogress = (e) => progress({ sent: e.loaded, all: file.size, stop });
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as Uploaded);
      else reject(failureOf(request.status, request.responseText));
    };
    request.onerror = () => reject(new Failure(0, 'unreachable', unreachable));
    request.onabort = () => reject(new Failure(0, 'stopped', 'The upload was stopped.'));
    request.send(file);
  });
}
