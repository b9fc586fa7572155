// Scripted buyer endpoints, each on its own socket.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import express from 'express';
import { Buyer, noBid, nodeHandler, refuse, UsageError, type BidDecision, type BuyerCredential, type PostDecision } from 'pingpost';
import { expressBuyer } from 'pingpost/express';

export interface Credential {
  bearer?: string;
  api_key?: string;
}

/** What the two functions do. */
export interface Script {
  bid?: { amount: number; currency?: string; token?: string; valid_until?: string };
  no_bid?: { reason: string; detail?: string };
  post?: { lead_id: string };
  refuse?: { reason: string };
  raise?: boolean;
  bid_raise?: boolean;
  post_raise?: boolean;
  sleep_seconds?: number;
  bid_sleep_seconds?: number;
  post_sleep_seconds?: number;
}

interface Actor {
  script: Script;
  server: Server;
  pings: unknown[];
  posts: unknown[];
}

export class Stage {
  readonly #actors = new Map<string, Actor>();

  async serve(name: string, flavor: string, credential: Credential | undefined, script: Script, prefix = ''): Promise<string> {
    const actor: Actor = { script, server: createServer(), pings: [], posts: [] };
    const buyer = new Buyer({
      bid: (ping) => bid(actor, ping),
      post: (delivery) => post(actor, delivery),
      ...(credential === undefined ? {} : { credential: shown(credential) }),
    });
    if (flavor !== 'node' && flavor !== 'express') throw new UsageError(`there is no flavor ${flavor}`);
    actor.server.on('request', flavor === 'node' ? nodeHandler(buyer, { prefix }) : express().use(prefix || '/', expressBuyer(buyer)));
    await new Promise<void>((resolve) => actor.server.listen(0, '127.0.0.1', resolve));
    this.#actors.set(name, actor);
    return `http://127.0.0.1:${String((actor.server.address() as AddressInfo).port)}${prefix}`;
  }

  rescript(name: string, script: Script): object {
    this.#actor(name).script = script;
    return {};
  }

  received(name: string): object {
    const { pings, posts } = this.#actor(name);
    return { pings, posts, bid_calls: pings.length, post_calls: posts.length };
  }

  stop(name: string): object {
    end(this.#actor(name));
    this.#actors.delete(name);
    return {};
  }

  close(): void {
    for (const actor of this.#actors.values()) end(actor);
  }

  #actor(name: string): Actor {
    const actor = this.#actors.get(name);
    if (actor === undefined) throw new UsageError(`there is no buyer ${name}`);
    return actor;
  }
}

function end(actor: Actor): void {
  actor.server.close();
  actor.server.closeAllConnections();
}

function shown(credential: Credential): BuyerCredential {
  return {
    ...(credential.bearer === undefined ? {} : { bearer: credential.bearer }),
    ...(credential.api_key === undefined ? {} : { apiKey: credential.api_key }),
  };
}

async function bid(actor: Actor, ping: unknown): Promise<BidDecision> {
  actor.pings.push(ping);
  const { script } = actor;
  await wait(1000 * (script.bid_sleep_seconds ?? script.sleep_seconds ?? 0));
  if (script.bid_raise ?? script.raise ?? false) throw new Error('told to fail');
  if (script.bid === undefined) return noBid(script.no_bid?.reason ?? 'unscripted', script.no_bid?.detail);
  const { token, ...offer } = script.bid;
  return { ...offer, ...(token === undefined ? {} : { bid_token: token }) };
}

async function post(actor: Actor, delivery: unknown): Promise<PostDecision> {
  actor.posts.push(delivery);
  const { script } = actor;
  await wait(1000 * (script.post_sleep_seconds ?? script.sleep_seconds ?? 0));
  if (script.post_raise ?? script.raise ?? false) throw new Error('told to fail');
  return script.post === undefined ? refuse(script.refuse?.reason ?? 'unscripted') : script.post.lead_id;
}
