// Why a proof stops before it says anything.

/** An instruction or a jump that cannot be followed; the message is a reason, without a period. */
export class NotFollowed extends Error {}
