<?php

declare(strict_types=1);

namespace Pingpost\Tests;

use PHPUnit\Framework\TestCase;

/** The package where nothing else is installed. */
final class AloneTest extends TestCase
{
    public function testModelsAndWebhooksNeedNoOtherPackage(): void
    {
        self::assertSame("104\n", self::alone(<<<'PHP'
            foreach (glob("$root/generated/*.php") as $file) {
                class_exists('Pingpost\\Model\\' . basename($file, '.php')) || exit(1);
            }
            $price = Pingpost\Model\Price::fromArray(['amount' => 104, 'currency' => 'USD']);
            class_exists(Pingpost\Webhook::class) || exit(1);
            echo (int) $price->amount, "\n";
            PHP));
    }

    public function testAClientSaysWhatItMisses(): void
    {
        self::assertStringStartsWith('no HTTP client: install guzzlehttp/guzzle', self::alone(<<<'PHP'
            try {
                new Pingpost\Client('https://exchange.example.com', apiKey: 'a');
            } catch (Pingpost\Exception\UsageException $e) {
                echo $e->getMessage(), "\n";
            }
            PHP));
    }

    /** What a process of its own says, which finds only the classes of this package. */
    private static function alone(string $code): string
    {
        $start = <<<'PHP'
            $root = $argv[1];
            spl_autoload_register(function (string $class) use ($root): void {
                $path = strtr($class, ['Pingpost\\Model\\' => 'generated/', 'Pingpost\\' => 'src/', '\\' => '/']);
                is_file("$root/$path.php") && require "$root/$path.php";
            });
            PHP;
        $command = [PHP_BINARY, '-d', 'display_errors=1', '-r', "$start\n$code", '--', dirname(__DIR__)];
        $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
        $said = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process), $said);
        return $said;
    }
}
