<?php

declare(strict_types=1);

namespace Pingpost\Model;

/**
 * Two capital letters of the US postal service: a state, DC, a territory, or the armed forces abroad.
 *
 * Made from api/openapi.yaml by sdk/generate; edit that.
 */
final class StateCode
{
    public const AA = 'AA';
    public const AE = 'AE';
    public const AK = 'AK';
    public const AL = 'AL';
    public const AP = 'AP';
    public const AR = 'AR';
    public const _AS = 'AS';
    public const AZ = 'AZ';
    public const CA = 'CA';
    public const CO = 'CO';
    public const CT = 'CT';
    public const DC = 'DC';
    public const DE = 'DE';
    public const FL = 'FL';
    public const GA = 'GA';
    public const GU = 'GU';
    public const HI = 'HI';
    public const IA = 'IA';
    public const ID = 'ID';
    public const IL = 'IL';
    public const IN = 'IN';
    public const KS = 'KS';
    public const KY = 'KY';
    public const LA = 'LA';
    public const MA = 'MA';
    public const MD = 'MD';
    public const ME = 'ME';
    public const MI = 'MI';
    public const MN = 'MN';
    public const MO = 'MO';
    public const MP = 'MP';
    public const MS = 'MS';
    public const MT = 'MT';
    public const NC = 'NC';
    public const ND = 'ND';
    public const NE = 'NE';
    public const NH = 'NH';
    public const NJ = 'NJ';
    public const NM = 'NM';
    public const NV = 'NV';
    public const NY = 'NY';
    public const OH = 'OH';
    public const OK = 'OK';
    public const _OR = 'OR';
    public const PA = 'PA';
    public const PR = 'PR';
    public const RI = 'RI';
    public const SC = 'SC';
    public const SD = 'SD';
    public const TN = 'TN';
    public const TX = 'TX';
    public const UT = 'UT';
    public const VA = 'VA';
    public const VI = 'VI';
    public const VT = 'VT';
    public const WA = 'WA';
    public const WI = 'WI';
    public const WV = 'WV';
    public const WY = 'WY';

    /** All that were known when this was made. An exchange may send others. */
    public const KNOWN = [self::AA, self::AE, self::AK, self::AL, self::AP, self::AR, self::_AS, self::AZ, self::CA, self::CO, self::CT, self::DC, self::DE, self::FL, self::GA, self::GU, self::HI, self::IA, self::ID, self::IL, self::IN, self::KS, self::KY, self::LA, self::MA, self::MD, self::ME, self::MI, self::MN, self::MO, self::MP, self::MS, self::MT, self::NC, self::ND, self::NE, self::NH, self::NJ, self::NM, self::NV, self::NY, self::OH, self::OK, self::_OR, self::PA, self::PR, self::RI, self::SC, self::SD, self::TN, self::TX, self::UT, self::VA, self::VI, self::VT, self::WA, self::WI, self::WV, self::WY];
}
