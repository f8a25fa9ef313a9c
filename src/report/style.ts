// The page's style: system fonts, colours by role for light and dark, no outside resources.

/** CSS of the profile page. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d1d9e0;--panel:#f6f8fa;--link:#0757ba;--hot:#ffb3a1;
--l0:#0757ba;--l1:#1a7f37;--l2:#9a5d00;--l3:#8250df;--crit:#cf222e;--work:#8fb8f0;--copy:#a9d8b2;--wait:#e2b64a;--stall:#f09a8c;--exec:#7cc98f;--idle:#c9d1d9}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;--bg:#0d1117;--fg:#e6edf3;--dim:#9da7b3;--line:#3d444d;--panel:#161b22;--link:#79b8ff;--hot:#7a2f22;
--l0:#79b8ff;--l1:#56d364;--l2:#e3b341;--l3:#d2a8ff;--crit:#ff7b72;--work:#2f5d9b;--copy:#2f6b3d;--wait:#6f5000;--stall:#93352b;--exec:#1f6b38;--idle:#30363d}}
:root[data-theme=dark]{color-scheme:dark;--bg:#0d1117;--fg:#e6edf3;--dim:#9da7b3;--line:#3d444d;--panel:#161b22;--link:#79b8ff;--hot:#7a2f22;
--l0:#79b8ff;--l1:#56d364;--l2:#e3b341;--l3:#d2a8ff;--crit:#ff7b72;--work:#2f5d9b;--copy:#2f6b3d;--wait:#6f5000;--stall:#93352b;--exec:#1f6b38;--idle:#30363d}
:root[data-theme=light]{color-scheme:light}
@media(prefers-color-scheme:light){:root:not([data-theme=dark]){color-scheme:light}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;overflow-wrap:break-word}select,input{max-width:100%}.toolbar>*{min-width:0}
header,main{max-width:1480px;margin:0 auto;padding:0 20px}
header{padding-top:20px}
h1{font-size:24px;margin:0}h2{font-size:20px;margin:36px 0 10px;border-bottom:1px solid var(--line);padding-bottom:4px}h3{font-size:16px;margin:20px 0 8px}h4{font-size:15px;margin:12px 0 4px}
h2 code{font-size:16px;overflow-wrap:anywhere}
a{color:var(--link)}
nav{display:flex;flex-wrap:wrap;gap:16px;align-items:center;margin:8px 0}
button,select,input{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:3px 10px}
button{cursor:pointer}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
#kernel:focus,main:focus{outline:none}
code{font-family:ui-monospace,monospace;font-size:13px}
.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:10px 0}
.tile{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:8px 14px;min-width:120px;font-size:17px}
.tile>span:first-child{display:block;color:var(--dim);font-size:13px}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:8px 0}.facts dt{color:var(--dim)}.facts dd{margin:0;overflow-wrap:anywhere}
.changes li{margin:8px 0}.changes p{margin:2px 0}.changes strong{overflow-wrap:anywhere}
.unknown{color:var(--dim);font-style:italic;border-bottom:1px dotted var(--dim);cursor:help}
.note,.empty{color:var(--dim)}
.simulated{border-left:4px solid var(--l2);padding-left:10px}
.toolbar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:8px 0}
.chart{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px;margin:8px 0;overflow-x:auto}
.chart svg{display:block;width:100%;min-width:850px;height:auto}.chart svg.timeline{min-width:340px}
svg text{fill:var(--fg);font:12px system-ui,sans-serif}svg .axis{font-size:13px}
svg .grid{stroke:var(--line);stroke-width:1}
svg .roof{stroke-width:2.5;fill:none}svg .roof.rate{stroke:var(--dim);stroke-width:2}
svg .roof-label{font-size:11.5px;fill:var(--fg);paint-order:stroke;stroke:var(--panel);stroke-width:4px;stroke-linejoin:round}
svg .dot{stroke:var(--bg);stroke-width:1.5;cursor:pointer;fill-opacity:.85}svg .dot:focus{stroke:var(--fg);stroke-width:3;outline:none}
.level-0{--c:var(--l0)}.level-1{--c:var(--l1)}.level-2{--c:var(--l2)}.level-3{--c:var(--l3)}.level-4{--c:var(--crit)}
svg .roof[class*=level-]{stroke:var(--c)}svg .dot[class*=level-]{fill:var(--c)}.swatch{background:var(--c)}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;list-style:none;margin:6px 0 0;padding:0 0 0 78px}
.swatch{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px}
.timeline:focus-visible{outline-offset:-2px}
svg .density{fill:var(--work);fill-opacity:.55}svg .density.copy{fill:var(--copy)}svg .density.call{fill:var(--idle)}svg .edge-critical{fill:none;stroke:var(--crit);stroke-width:2}svg .dispatch{fill:var(--work)}svg .copy{fill:var(--copy)}svg .call{fill:var(--idle)}svg .track{fill:var(--exec)}svg .track-top{font-size:11px}tr.selected{outline:2px solid var(--crit);outline-offset:-2px}svg .faster{fill:var(--exec)}svg .slower{fill:var(--stall)}svg .arrow{fill:none;stroke:var(--crit);stroke-width:1.2}svg .critical{stroke:var(--crit);stroke-width:2}svg .critical.narrow{stroke:none}svg .on-path{fill:var(--crit)}
svg .bar-label{pointer-events:none}svg .undrawn{stroke:var(--dim);stroke-dasharray:2 5}
.key{padding:1px 8px;border-radius:4px;font-size:13px}.critical-key{border:2px solid var(--crit)}.dispatch-key{background:var(--work)}.copy-key{background:var(--copy)}.call-key{background:var(--idle)}.track-key{background:var(--exec)}
.state-idle{fill:var(--idle);background:var(--idle)}.state-exec{fill:var(--exec);background:var(--exec)}.state-wait{fill:var(--wait);background:var(--wait)}.state-stall{fill:var(--stall);background:var(--stall)}.state-empty{fill:none}
.curve{fill:none;stroke:var(--l0);stroke-width:1.5}.line-exec{stroke:var(--exec)}.line-wait{stroke:var(--wait)}.line-stall{stroke:var(--stall)}.line-idle{stroke:var(--dim)}
svg .one{fill:var(--c);stroke:var(--bg);stroke-width:1;cursor:pointer}
svg .intensity{stroke:var(--c);stroke-width:2.5;stroke-dasharray:6 4;cursor:pointer}svg .intensity:focus{stroke:var(--fg);outline:none}
.scroll{overflow:auto;border:1px solid var(--line);border-radius:8px;margin:10px 0}.tall{max-height:640px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;font-weight:600;padding:8px 12px}
th,td{padding:4px 12px;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
thead th{position:sticky;top:0;background:var(--panel);z-index:1}
th button{border:0;background:none;padding:0;font-weight:600}
th[aria-sort=ascending] button::after{content:" ▲"}th[aria-sort=descending] button::after{content:" ▼"}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.kernels .name{max-width:380px;overflow-wrap:anywhere}.kernels .name:first-child{min-width:220px}
td .kernel-name{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;overflow-wrap:anywhere}td .kernel-name:focus-visible{-webkit-line-clamp:none}
.listing td{padding:1px 10px;white-space:nowrap}
.listing .isa{background:linear-gradient(90deg,var(--hot) var(--heat,0%),transparent var(--heat,0%))}
.listing .title th{background:var(--panel)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:24px}.columns>*{min-width:0}
.class{border-left:3px solid var(--l2);padding-left:12px;margin:10px 0}
.bar{position:relative;background:var(--panel);border:1px solid var(--line);border-radius:4px;margin:4px 0;min-height:28px;overflow:hidden}
.bar .fill{position:absolute;inset:0 auto 0 0;background:var(--work)}.bar .bar-text{position:relative;padding:2px 8px;display:block}
#tooltip{position:fixed;z-index:10;max-width:520px;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--fg);color:var(--bg);padding:6px 10px;border-radius:6px;font-size:13px;pointer-events:none}
.skip{position:absolute;left:-9999px}.skip:focus{left:10px;top:10px;background:var(--bg);padding:6px}
@media(max-width:600px){td .kernel-name{min-width:130px}th,td{padding:4px 6px}header,main{padding:0 12px}.legend{padding-left:0}}
@media print{nav,.toolbar{display:none}.tall{max-height:none}}
`;
