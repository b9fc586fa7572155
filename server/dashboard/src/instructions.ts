// Posting instructions: GET campaigns/ID/instructions.

export interface InstructionField {
  name: string;
  type: string;
  required: boolean;
  in_ping: boolean;
  contact: boolean;
  rule: string;
  pattern?: string;
  default: string | number | boolean | null;
  example: string | number | boolean | null;
}

export interface InstructionRequest {
  title: string;
  method: string;
  path: string;
  url: string;
  body: string;
  curl: string;
}

export interface Instructions {
  campaign: { id: string; name: string; vertical: string; sub_vertical: string; ping_post: boolean };
  supplier: { id: string; name: string; test: boolean };
  sandbox: boolean;
  base_url: string;
  base_url_configured: boolean;
  documentation_url: string;
  api_key_hints: string[];
  oauth_clients: { client_id: string; secret_hint: string; scopes: string[] }[];
  selectors: InstructionField[];
  fields: InstructionField[];
  unknown_members: 'drop' | 'keep' | 'reject';
  consent: { required_for_sources: string[]; accepted_hosts: string[] };
  duplicates: { fields: string[]; all_must_match: boolean; window: string; shared: boolean };
  requests: InstructionRequest[];
  answers: { title: string; status: number; body: string; meaning: string }[];
  response_codes: { status: number; code: string; retry: boolean; do: string }[];
  limits: {
    ingests_per_second: number;
    pings_per_second: number;
    body_bytes_per_second: number;
    concurrent_auctions: number;
    body_bytes: number;
  };
  retention: { [path: string]: string };
  sample_passes: boolean;
}
