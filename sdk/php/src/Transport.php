<?php

declare(strict_types=1);

namespace Pingpost;

use Pingpost\Exception\TimeoutException;
use Pingpost\Exception\TransportException;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/** One try at one request. */
interface Transport
{
    /**
     * Sends the request and reads the whole answer, for every status. Follows no redirect.
     *
     * @param float $timeout seconds for all of it
     * @param bool $fresh whether the try before this one failed, so that its connection is not to be trusted
     * @throws TimeoutException where they have passed
     * @throws TransportException where there is no whole answer for another reason
     */
    public function send(RequestInterface $request, float $timeout, bool $fresh = false): ResponseInterface;
}
