export function checkLayers(): string[];
export function checkCircles(): string[];
