<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\UsageException;

/**
 * Keeps tokens in a folder that all processes of this machine share. Files are readable by
 * their owner only. One process fetches; the others wait for the file's lock and use its token.
 */
final class FileTokenStore implements TokenStore
{
    public function __construct(private readonly string $folder)
    {
        if (!is_dir($folder) && !@mkdir($folder, 0700, true) && !is_dir($folder)) {
            throw new UsageException("cannot make the folder $folder for tokens");
        }
    }

    public function token(
        string $name,
        float $now,
        \Closure $fetch,
        #[\SensitiveParameter] ?string $refused = null,
    ): Token {
        $path = $this->folder . '/' . hash('sha256', $name);
        $mask = umask(0077);
        $file = @fopen($path, 'c+');
        umask($mask);
        if ($file === false || !flock($file, LOCK_EX)) {
            throw new UsageException("cannot open $path for tokens");
        }
        try {
            $kept = json_decode((string) stream_get_contents($file), true);
            if (is_array($kept) && ($kept['until'] ?? 0) > $now && ($kept['token'] ?? $refused) !== $refused) {
                return new Token($kept['token'], (float) $kept['until']);
            }
            $token = $fetch();
            ftruncate($file, 0);
            rewind($file);
            fwrite($file, Json::encode(['token' => $token->value, 'until' => $token->useUntil]));
            fflush($file);
            return $token;
        } finally {
            fclose($file);
        }
    }
}
