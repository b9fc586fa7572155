<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\SkippedTestError;

/**
 * The real exchange as a child process: two tenants, one in earnest and one sandbox, with a buyer that stands at
 * $buyer and a supplier whose webhooks go to $hooks.
 */
final class Exchange
{
    public readonly string $live;
    public readonly string $sandbox;

    private readonly Process $process;

    public function __construct(string $buyer, string $hooks)
    {
        $live = Process::freePlace();
        $sandbox = Process::freePlace();
        $program = self::program();
        $this->process = new Process(
            ['sh', '-c', 'while [ ! -e {folder}/ready ]; do sleep 0.01; done; exec "$0" serve -c {folder}/live.yaml '
                . '-c {folder}/sandbox.yaml 2>{folder}/stderr', $program]
        );
        foreach (['live' => $live, 'sandbox' => $sandbox] as $tenant => $listen) {
            $folder = $this->process->folder;
            file_put_contents("$folder/$tenant.yaml", self::config($tenant, $folder, $listen, $buyer, $hooks));
        }
        touch($this->process->folder . '/ready');
        $this->process->waitFor($live);
        $this->process->waitFor($sandbox);
        $this->live = "http://$live";
        $this->sandbox = "http://$sandbox";
    }

    public function end(): void
    {
        $this->process->end();
    }

    /** The program of this repository, built once a run; PINGPOST_PROGRAM may name one that is built. */
    private static function program(): string
    {
        $named = getenv('PINGPOST_PROGRAM');
        if ($named !== false) {
            return $named;
        }
        $root = dirname(__DIR__, 3);
        if (!is_dir("$root/cmd/pingpost")) {
            throw new SkippedTestError('not inside the repository of the exchange: name one in PINGPOST_PROGRAM');
        }
        $folder = sys_get_temp_dir() . '/pingpost-php-' . bin2hex(random_bytes(8));
        mkdir($folder);
        register_shutdown_function(fn () => Process::remove($folder));
        exec(sprintf('cd %s && go build -o %s ./cmd/pingpost 2>&1', escapeshellarg($root), $folder), $said, $code);
        if ($code !== 0) {
            throw new \RuntimeException("cannot build the exchange:\n" . implode("\n", $said));
        }
        return "$folder/pingpost";
    }

    private static function config(
        string $tenant,
        string $folder,
        string $listen,
        string $buyer,
        string $hooks,
    ): string {
        [$kind, $tokens] = $tenant === 'sandbox'
            ? ["sandbox: true\n", 'bearer_tokens: [{token: token-of-acme, scopes: [ping, post]}]']
            : ['', 'oauth_clients: [{client_id: acme, client_secret: secret-of-acme, scopes: [ping, post]}]'];
        return <<<YAML
            tenant: $tenant
            {$kind}data_dir: $folder/$tenant
            listen: $listen
            admin: {listen: "127.0.0.1:0", password: "password-of-the-operator"}
            trusted_networks: [127.0.0.0/8]
            suppliers:
              - id: sup_acme
                api_key: key-of-acme
                $tokens
                webhook: {url: "http://$hooks/", secret: "whsec_b2YtYWNtZS1vZi1hY21lLW9mLWFjbWU="}
            buyers:
              - id: buy_blue
                endpoint: http://$buyer
                auth: {bearer: token-of-blue}
                oauth_clients: [{client_id: blue, client_secret: secret-of-blue, scopes: [webhook]}]
            campaigns:
              - id: cmp_auto
                vertical: auto_insurance
                method: ping_post
                bid_timeout: 5s
                floor: 5
                payout: {share: 0.8}
                duplicates: {window: 0s}
                fields:
                  - {name: homeowner, type: boolean, ping: true}
                  - {name: vehicle_count, type: integer, min: 0, max: 20, ping: true}
                buyers: [{buyer: buy_blue}]

            YAML;
    }
}
