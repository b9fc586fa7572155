import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, dialog, newPage, place, said, settled, shows, signedIn, signIn, visit } from './page';

browse();

interface MailServer {
  port: number;
  letters: string[];
  refuse: (recipients: boolean) => void;
  close: () => void;
}

// startMailServer accepts messages on a free port, or refuses their recipients.
async function startMailServer(): Promise<MailServer> {
  const letters: string[] = [];
  const sockets: Socket[] = [];
  let refusing = false;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    const say = (line: string) => socket.write(`${line}\r\n`);
    let letter: string | undefined; // while the client sends one
    let rest = '';
    const hear = (line: string): void => {
      if (letter !== undefined) {
        if (line !== '.') {
          letter += `${line}\n`;
          return;
        }
        letters.push(letter);
        letter = undefined;
        say('250 OK');
      } else if (/^DATA/i.test(line)) {
        letter = '';
        say('354 go on');
      } else if (/^QUIT/i.test(line)) {
        say('221 bye');
        socket.end();
      } else say(refusing && /^RCPT/i.test(line) ? '550 no such mailbox' : '250 OK');
    };
    socket.on('data', (part) => {
      const lines = (rest + part).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
    say('220 test');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    letters,
    refuse: (recipients) => {
      refusing = recipients;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

interface Saved {
  saved_reports: { id: string; name: string; etag: string; query: object; schedule: object | null }[];
}

// cleared runs a test, and then deletes all saved reports.
async function cleared(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    const { saved_reports } = await order<Saved>(place, 'GET', 'saved-reports');
    for (const { id, etag } of saved_reports) {
      await order(place, 'DELETE', `saved-reports/${id}`, undefined, { 'If-Match': etag });
    }
  }
}

test('a report is saved, scheduled, sent, opened, edited and deleted', () =>
  cleared(async () => {
    const mail = await startMailServer();
    const channel = {
      kind: 'email',
      host: '127.0.0.1',
      port: mail.port,
      security: 'none',
      from: 'reports@example.com',
      to: ['ops@example.com'],
    };
    try {
      const page = await signedIn('reports/custom?by=buyer&period=today');
      await button(page, 'Save this report').click();
      const form = dialog(page);
      await shows(form.getByText('Today, by buyer'));
      await form.getByLabel('Name (required)').fill('Buyers each Monday');
      await form.getByLabel('Send by email').selectOption('weekly');
      await form.getByLabel('Time').fill('07:30');
      await form.getByLabel('Recipients (required)').fill('boss');
      await button(form, 'Save report').click();
      await shows(form.locator('.field.wrong', { hasText: 'Recipients' }));
      await form.getByLabel('Recipients (required)').fill('boss@example.com, desk@example.com');
      await button(form, 'Save report').click();
      await said(page, 'Buyers each Monday is saved.');

      await visit(page, 'reports/saved');
      await shows(page.getByText('No email can be sent', { exact: false }));
      const row = page.getByRole('row', { name: /Buyers each Monday/ });
      await shows(row.getByText('each Monday at 07:30'));
      await button(row, 'Send now: Buyers each Monday').click();
      await shows(row.getByText('It was not sent: there is no e-mail channel', { exact: false }));

      await order(place, 'PUT', 'alerts/channels/reports', channel, { 'If-None-Match': '*' });
      await button(row, 'Send now: Buyers each Monday').click();
      await said(page, 'Buyers each Monday is sent.');
      await shows(row.getByText('sent', { exact: true }));
      expect(mail.letters).toHaveLength(1);
      expect(mail.letters[0]).toContain('buyers-each-monday-');

      mail.refuse(true);
      await button(row, 'Send now: Buyers each Monday').click();
      await shows(row.getByText('no such mailbox', { exact: false }));
      await shows(row.getByText('failing', { exact: true }));

      await button(row, 'Edit Buyers each Monday').click();
      await form.getByLabel('Send by email').selectOption('monthly');
      await form.getByLabel('Day of the month').fill('31');
      await form.getByLabel('Period').selectOption('last_month');
      await button(form, 'Save report').click();
      await said(page, 'Buyers each Monday is saved.');
      await shows(row.getByText('on day 31 of each month at 07:30'));
      const { saved_reports } = await order<Saved>(place, 'GET', 'saved-reports');
      expect(saved_reports[0]).toMatchObject({
        query: { by: ['buyer'], period: 'last_month', filters: {}, columns: [] },
        schedule: {
          frequency: 'monthly',
          day: 31,
          time: '07:30',
          recipients: ['boss@example.com', 'desk@example.com'],
        },
      });

      await row.getByRole('link', { name: 'Buyers each Monday' }).click();
      await settled(page);
      expect(await page.getByLabel('Period', { exact: true }).last().inputValue()).toBe('last_month');
      await visit(page, 'reports/saved');
      await button(row, 'Delete Buyers each Monday').click();
      await button(dialog(page), 'Delete').click();
      await said(page, 'Buyers each Monday is deleted.');
      await shows(page.getByText('No saved reports'));
    } finally {
      mail.close();
      const { etag } = await order<{ etag: string }>(place, 'GET', 'alerts/channels/reports');
      await order(place, 'DELETE', 'alerts/channels/reports', undefined, { 'If-Match': etag });
    }
  }));

test('chosen columns are saved and shown again with the totals', () =>
  cleared(async () => {
    const query = { by: ['buyer'], period: 'this_month', columns: ['buyer_id', 'revenue'], totals: true };
    await order(place, 'POST', 'saved-reports', { name: 'Revenue only', query });
    const page = await signedIn('reports/saved');
    await page.getByRole('link', { name: 'Revenue only' }).click();
    const table = page.getByRole('region', { name: 'Rows of the report' });
    await shows(table);
    expect(await table.getByRole('columnheader').allInnerTexts()).toHaveLength(2);
    await shows(table.locator('tfoot'));
    await button(page, 'Save this report').click();
    await dialog(page).getByLabel('Name (required)').fill('Revenue again');
    await button(dialog(page), 'Save report').click();
    await said(page, 'Revenue again is saved.');
    const { saved_reports } = await order<Saved>(place, 'GET', 'saved-reports');
    expect(saved_reports.map((r) => r.query)[0]).toEqual(saved_reports.map((r) => r.query)[1]);
  }));

test('another operator’s change is not overwritten, and a viewer only reads', () =>
  cleared(async () => {
    const document = { name: 'Shared', query: { by: ['day'], period: 'yesterday' } };
    const { id, etag } = await order<{ id: string; etag: string }>(place, 'POST', 'saved-reports', document);
    const page = await signedIn('reports/saved');
    await button(page, 'Edit Shared').click();
    await order(place, 'PUT', `saved-reports/${id}`, { ...document, name: 'Theirs' }, { 'If-Match': etag });
    await button(dialog(page), 'Save report').click();
    await shows(dialog(page).getByText('was changed meanwhile', { exact: false }));
    await button(dialog(page), 'Cancel').click();
    await shows(page.getByRole('link', { name: 'Theirs' }));

    const words = 'correct horse battery';
    await order(place, 'PUT', 'users/vera', { role: 'viewer', password: words });
    const theirs = await newPage();
    await theirs.goto('/#/reports/saved');
    await signIn(theirs, 'vera', words);
    await settled(theirs);
    await shows(theirs.getByRole('link', { name: 'Theirs' }));
    expect(await button(theirs, /^(Edit|Send|Delete) /).count()).toBe(0);
    await order(place, 'DELETE', 'users/vera');
  }));
