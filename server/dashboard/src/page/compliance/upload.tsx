import { useState } from 'preact/hooks';
import { address, Failure, failureOf, headersFor, part, unreachable } from '../../call';
import { hashNames } from '../../form/list';
import type { Names } from '../../form/spec';
import { bytes, count, instant } from '../../format';
import { binaryText, withoutMark } from '../../list-file';
import { asFailure, useLoad } from '../../load';
import { Act, Button } from '../../part/button';
import { DropZone } from '../../part/drop';
import { Select } from '../../part/field';
import { say } from '../../part/notice';
import { Loaded } from '../../part/state';
import { Card, Facts } from '../../part/words';
import { Wrong } from '../../part/wrong';
import { useDenied } from '../../session';
import { type Detected, detect, hashFile } from '../../suppress';
import type { SuppressionList, Uploaded } from '../../types';

interface Sending {
  sent: number;
  all: number;
  stop: () => void;
}

interface Chosen {
  file: File;
  found: Detected;
}

// Upload replaces the contents of a suppression list, or adds to them. It streams the file, so
// the file may have any size. Plain values for a list of hashes are hashed in the browser.
export function Upload({ id, hash, field }: { id: string; hash: string; field: string }) {
  const lists = useLoad<{ lists: SuppressionList[] }>('suppression');
  const [chosen, choose] = useState<Chosen | undefined>();
  const [mode, set] = useState('replace');
  const [hashing, advance] = useState<number | undefined>();
  const [sending, go] = useState<Sending | undefined>();
  const [failure, fail] = useState<Failure | undefined>();
  const [done, tell] = useState<Uploaded | undefined>();
  const denied = useDenied('operator');
  const take = async (given: File) => {
    fail(undefined);
    tell(undefined);
    const file = await withoutMark(given);
    choose({ file, found: detect(await file.slice(0, 8192).text()) });
  };
  const mustHash = chosen?.found.form === 'plain' && (hash === 'md5' || hash === 'sha256');
  const send = async () => {
    if (!chosen) return;
    fail(undefined);
    tell(undefined);
    try {
      const file = mustHash ? await hashFile(chosen.file, field, hash as 'md5' | 'sha256', advance) : chosen.file;
      advance(undefined);
      tell(await upload(address(`suppression/${part(id)}`, { mode }), file, go));
      say(`${chosen.file.name} is in ${id}.`);
      lists.reload();
      choose(undefined);
    } catch (problem) {
      fail(asFailure(problem));
    } finally {
      go(undefined);
      advance(undefined);
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
                ['Entries', list?.entries ? count(list.entries) : '0: it stops no lead until you upload a file'],
                ['Loaded', list?.loaded_at ? instant(list.loaded_at) : 'never'],
                ['Loaded from', list?.source ?? '–'],
              ]}
            />
          );
        }}
      </Loaded>
      <DropZone
        label="File"
        text={`Drop a file here, or choose one. Each line has ${entryText(field, hash)}.`}
        accept=".txt,.csv,text/plain"
        disabled={denied !== '' || sending !== undefined}
        take={(file) => void take(file)}
      />
      {chosen && <Preview of={chosen} hash={hash} field={field} />}
      <div class="row foot">
        <Select
          label="Existing entries"
          value={mode}
          set={set}
          options={[
            ['replace', 'Replace'],
            ['add', 'Keep, and add these'],
          ]}
        />
        {sending ? (
          <Button onClick={sending.stop}>Stop</Button>
        ) : (
          <Act needs="operator" tone="main" run={send} disabled={!chosen || clash(chosen.found, hash, field) !== ''}>
            {mustHash ? 'Hash and upload' : 'Upload'}
          </Act>
        )}
      </div>
      {hashing !== undefined && (
        <div class="row">
          <progress class="grow" aria-label="Hashing" max={1} value={hashing} />
          <span>hashing in this browser</span>
        </div>
      )}
      {sending && (
        <div class="row">
          <progress class="grow" aria-label="Upload" max={sending.all} value={sending.sent} />
          <span>
            {sending.sent < sending.all
              ? `${bytes(sending.sent)} of ${bytes(sending.all)}`
              : 'sent; the exchange reads it'}
          </span>
        </div>
      )}
      <Wrong failure={failure} />
      {failure && <p class="faint">The list is unchanged.</p>}
      {done && (
        <p class="note good" role="status">
          {count(done.entries)} entries, {count(done.duplicates)} duplicates, {count(done.skipped)} lines skipped.
        </p>
      )}
    </Card>
  );
}

const forms: Names = { ...hashNames, binary: 'binary data' };

// entryText describes a line of a file for the list.
function entryText(field: string, hash: string): string {
  const value = field === 'phone' ? 'a phone number' : 'an email address';
  return hash === 'plain' ? value : `${value} or its ${hash === 'md5' ? 'MD5' : 'SHA-256'} hash`;
}

// clash returns the reason why a file does not fit the list, empty if it does.
function clash(of: Detected, hash: string, field: string): string {
  if (of.form === 'binary') return binaryText;
  if (of.lines.length === 0) return '';
  if (of.form !== 'plain' && of.form !== hash) {
    return `The file has ${forms[of.form]}, but this list has ${forms[hash]}.`;
  }
  if (of.form === 'plain' && hash !== 'plain' && of.field !== '' && of.field !== field) {
    return `The file has ${of.field} values, but this list has the field ${field}.`;
  }
  return '';
}

function Preview({ of, hash, field }: { of: Chosen; hash: string; field: string }) {
  const wrong = clash(of.found, hash, field);
  const plain = of.found.form === 'plain';
  const unknown = plain && of.found.field === '' && of.found.lines.length > 0;
  return (
    <div class="preview">
      <p>
        <strong>{of.file.name}</strong>, {bytes(of.file.size)}:{' '}
        {plain && of.found.field ? `${of.found.field} values, ` : ''}
        {unknown ? 'most lines are neither phone numbers nor email addresses' : forms[of.found.form]}
        {plain &&
          !unknown &&
          hash !== 'plain' &&
          wrong === '' &&
          '. They are hashed in this browser; the plain values stay here'}
        .
      </p>
      {wrong && <p class="note bad">{wrong}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <pre tabIndex={0}>{of.found.lines.slice(0, 5).join('\n')}</pre>
    </div>
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
