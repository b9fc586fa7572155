// Server-sent events over fetch. EventSource cannot send headers and cannot distinguish an
// ended session from a broken connection.

export interface Message {
  event: string;
  data: string;
}

// reader accepts the stream's text in pieces of any length and calls take for each complete
// message.
export function reader(take: (m: Message) => void): (piece: string) => void {
  let rest = '';
  let event = '';
  let data: string[] = [];
  const line = (text: string) => {
    if (text === '') {
      if (data.length > 0) take({ event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return; // a comment
    const name = colon < 0 ? text : text.slice(0, colon);
    let value = colon < 0 ? '' : text.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
  };
  return (piece) => {
    rest += piece;
    for (;;) {
      const end = rest.search(/\r\n|\n|\r(?=[\s\S])/);
      if (end < 0) return;
      const text = rest.slice(0, end);
      rest = rest.slice(end + (rest.startsWith('\r\n', end) ? 2 : 1));
      line(text);
    }
  };
}

// pause returns the delay before the nth attempt in a row, in milliseconds.
export function pause(tries: number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(tries, 10));
}
